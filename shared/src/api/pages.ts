import { z } from "zod";

import { defaultListPageSize, maxListPageSize } from "./limits.ts";

/** Time (milliseconds since 1970) and id of the last row of a page; opaque to clients. */
const PageCursor = z.string().regex(/^\d{13}\.[A-Za-z0-9_-]{1,36}$/);

/**
 * Query of a list that comes in pages.
 *
 * @param cursor schema of `next_cursor`, which continues after the previous page
 */
export const pageQuery = <Cursor extends z.ZodType>(cursor: Cursor, maxLimit = maxListPageSize) =>
  z.strictObject({
    limit: z.coerce.number().int().min(1).max(maxLimit).default(Math.min(defaultListPageSize, maxLimit)),
    cursor: cursor.optional(),
  });

/** Newest first. */
export const PageQuery = pageQuery(PageCursor);
export type PageQuery = z.output<typeof PageQuery>;

/**
 * Members of a page's response. A list whose `state_rev` differs between two pages has changed:
 * read it again.
 */
export const pageMembers = { next_cursor: PageCursor.nullable(), state_rev: z.int().min(0) } as const;
