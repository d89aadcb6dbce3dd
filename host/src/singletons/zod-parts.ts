import { coerce as whole, iso as times } from "zod/v4";

/** The parts of zod that pages use; a test holds that host, remotes and shared ask for no other. */
export {
  array,
  boolean,
  custom,
  discriminatedUnion,
  email,
  enum,
  int,
  literal,
  looseObject,
  number,
  object,
  record,
  strictObject,
  string,
  union,
  unknown,
  url,
} from "zod/v4";

/** Of two parts of zod that have parts themselves. */
export const coerce = { number: whole.number };
export const iso = { datetime: times.datetime };
