import type { IncomingHttpHeaders } from "node:http";

import { equalsInConstantTime } from "./equals-in-constant-time.ts";

export function hasBearerToken({ authorization = "" }: IncomingHttpHeaders, token: string): boolean {
  return equalsInConstantTime(authorization, `Bearer ${token}`);
}
