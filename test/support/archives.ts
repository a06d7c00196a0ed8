import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { Header } from 'tar';

/** Archives with anything in them, also what no program would put there. */
export interface Entry {
  readonly path: string;
  readonly text?: string | Buffer;
  /** Mode of Unix with the type of the file in it; plain files have 0o100644. */
  readonly mode?: number;
  /** Bytes that the archive claims the file has. */
  readonly claims?: number;
  /** For tar: the type, and where a link leads. */
  readonly type?: string;
  readonly link?: string;
}

export const zipOf = (entries: readonly Entry[]): Buffer => {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, text = '', mode = 0o100644, claims } of entries) {
    const [name, content] = [Buffer.from(path), Buffer.from(text)];
    const packed = deflateRawSync(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(claims ?? content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const attributes = Buffer.alloc(14);
    attributes.writeUInt32LE((mode << 16) >>> 0, 6);
    attributes.writeUInt32LE(offset, 10);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, packed]);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03'), common, attributes, name]));
    locals.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, ...directory, end]);
};

export const tarOf = (entries: readonly Entry[]): Buffer => {
  const blocks = entries.flatMap(({ path, text = '', mode = 0o644, claims, type = 'File', link }) => {
    const content = Buffer.from(text);
    const header = new Header({
      path,
      mode,
      size: claims ?? content.length,
      type: type as 'File',
      ...(link && { linkpath: link }),
    });
    header.encode();
    const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
    return [header.block as Buffer, content, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1_024)]);
};

export const tarGzOf = (entries: readonly Entry[]): Buffer => gzipSync(tarOf(entries));
