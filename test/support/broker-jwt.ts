import { createHash } from 'node:crypto';
import { nkeys } from '@nats-io/transport-node';

type KeyPair = ReturnType<typeof nkeys.createUser>;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const nameOf = (pair: KeyPair): string => pair.getPublicKey();

/** A JWT as nats-server reads it (version 2), signed by an nkey. */
const jwtOf = (issuer: KeyPair, subject: KeyPair, nats: object): string => {
  const claims = { iss: nameOf(issuer), sub: nameOf(subject), name: 'test', iat: 1_700_000_000, nats: { ...nats, version: 2 } };
  const jti = createHash('sha256').update(JSON.stringify(claims)).digest('hex');
  const text = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode({ ...claims, jti })}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`;
};

/** A server that trusts one operator with one account, and the credentials file of a user of that account. */
export const credentialsOfUser = (): { serverConfig: string; creds: string } => {
  const [operator, system, account, user] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createAccount(),
    nkeys.createUser(),
  ];
  const free = { subs: -1, data: -1, payload: -1 };
  const unlimited = { ...free, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const stores = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const ofOperator = jwtOf(operator, operator, { type: 'operator' });
  const preloaded = [
    `${nameOf(system)}: ${jwtOf(operator, system, { type: 'account', limits: unlimited })}`,
    `${nameOf(account)}: ${jwtOf(operator, account, { type: 'account', limits: { ...unlimited, ...stores } })}`,
  ];
  const ofUser = jwtOf(account, user, { type: 'user', ...free });
  const seed = new TextDecoder().decode(user.getSeed());
  return {
    serverConfig: `operator: ${ofOperator}\nsystem_account: ${nameOf(system)}\nresolver: MEMORY\nresolver_preload: { ${preloaded.join(', ')} }`,
    creds: [
      ...['-----BEGIN NATS USER JWT-----', ofUser, '------END NATS USER JWT------', ''],
      ...['-----BEGIN USER NKEY SEED-----', seed, '------END USER NKEY SEED------', ''],
    ].join('\n'),
  };
};
