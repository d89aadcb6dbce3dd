import { z } from "zod";

// Libraries read the document's nonce from webpack.
__webpack_nonce__ = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";

// Without this setting zod would try `eval` once, which the document's policy reports.
z.config({ jitless: true });
