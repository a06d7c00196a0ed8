interface PagingProps<Cursor> {
  readonly before: Cursor | undefined;
  /** Where the next page begins; `null`: there is none. */
  readonly next: Cursor | null;
  go(before: Cursor | undefined): void;
}

/** Goes through a list that is newest first. */
export const Paging = <Cursor,>({ before, next, go }: PagingProps<Cursor>) =>
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
