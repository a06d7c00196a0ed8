interface PagingProps {
  readonly before: number | undefined;
  readonly next: number | null;
  go(before: number | undefined): void;
}

/** Goes through a list that is newest first and numbered. */
export const Paging = ({ before, next, go }: PagingProps) =>
  before === undefined && next === null ? null : (
    <div class="item-buttons">
      <button type="button" class="button" disabled={before === undefined} onClick={() => go(undefined)}>
        Newest
      </button>
      <button type="button" class="button" disabled={next === null} onClick={() => go(next ?? undefined)}>
        Older
      </button>
    </div>
  );
