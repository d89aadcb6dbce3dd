import { Billing } from "@relicario/shared/api";
import type { Portal } from "@relicario/shared/contract";
import { queryOptions } from "@tanstack/react-query";

export function billingQuery({ http, user }: Pick<Portal, "http" | "user">) {
  return queryOptions({
    queryKey: ["user", "billing", user.userId],
    queryFn: ({ signal }) => http.request("GET", "/user/billing", Billing, { signal }),
  });
}
