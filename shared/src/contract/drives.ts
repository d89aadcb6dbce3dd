import { z } from "zod";

import { SecureUrl } from "./addresses.ts";

/**
 * Secure origin in the notation of a content security policy, where the host may begin with `*.`.
 */
const CspSource = z
  .string()
  .regex(/^https?:\/\/(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?$/)
  .refine((source) => SecureUrl.safeParse(source.replace("*.", "")).success, "is neither https nor on this machine");

/**
 * Cloud drives for which a vendor has registered its portal, as in the deployment document. All
 * members are public. Defaults are the addresses of the providers' public services.
 */
export const Drives = z.strictObject({
  google: z
    .strictObject({
      client_id: z.string().min(1),
      /** Where the person signs in and chooses a file. */
      authorize_url: SecureUrl.default("https://accounts.google.com/o/oauth2/v2/auth"),
      /** Origin of the Drive API: `/drive/v3` and `/upload/drive/v3`. */
      api_origin: CspSource.default("https://www.googleapis.com"),
    })
    .optional(),
  onedrive: z
    .strictObject({
      client_id: z.string().min(1),
      /**
       * Base URL of `/oauth2/v2.0/authorize` and `/oauth2/v2.0/token`. By default `consumers`, for
       * personal accounts.
       */
      authority: SecureUrl.default("https://login.microsoftonline.com/consumers"),
      graph_url: SecureUrl.default("https://graph.microsoft.com/v1.0"),
      picker_url: SecureUrl.default("https://onedrive.live.com/picker"),
      /**
       * Origins of uploads and downloads: upload sessions, download URLs, and items that the picker
       * returns.
       */
      content_origins: z
        .array(CspSource)
        .default(["https://api.onedrive.com", "https://*.1drv.com", "https://*.microsoftpersonalcontent.com"]),
    })
    .optional(),
});
export type Drives = z.infer<typeof Drives>;
