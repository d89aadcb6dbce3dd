import { z } from "zod";

const HttpUrl = z.url({ protocol: /^https?$/ });

/** Origins as a content security policy names them: the host may begin with `*.`. */
const CspSource = z.string().regex(/^https?:\/\/(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?$/);

/**
 * Cloud drives where a vendor has registered its portal, as the deployment document names them. All
 * of it is public. Addresses are those of the providers' public services unless told otherwise.
 */
export const Drives = z.strictObject({
  google: z
    .strictObject({
      client_id: z.string().min(1),
      /** Where people sign in, and choose a file. */
      authorize_url: HttpUrl.default("https://accounts.google.com/o/oauth2/v2/auth"),
      /** Serves the Drive API below `/drive/v3` and `/upload/drive/v3`. */
      api_origin: CspSource.default("https://www.googleapis.com"),
    })
    .optional(),
  onedrive: z
    .strictObject({
      client_id: z.string().min(1),
      /**
       * `/oauth2/v2.0/authorize` and `/oauth2/v2.0/token` are below it. `consumers`: personal
       * accounts.
       */
      authority: HttpUrl.default("https://login.microsoftonline.com/consumers"),
      graph_url: HttpUrl.default("https://graph.microsoft.com/v1.0"),
      picker_url: HttpUrl.default("https://onedrive.live.com/picker"),
      /**
       * Where contents are sent and fetched: upload sessions, download addresses, and the items
       * that the picker names.
       */
      content_origins: z
        .array(CspSource)
        .default(["https://api.onedrive.com", "https://*.1drv.com", "https://*.microsoftpersonalcontent.com"]),
    })
    .optional(),
});
export type Drives = z.infer<typeof Drives>;
