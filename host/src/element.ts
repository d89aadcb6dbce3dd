/** First script of a visible frame of the vault's origin. */
import "./zod-settings.ts"; // before the first schema is created
import "@fontsource-variable/inter/wght.css";
import "./plain.css";

import { guardScripts } from "./deployment/integrity.ts";
import commonEn from "./locales/en/common.json";
import errorsEn from "./locales/en/errors.json";
import commonEs from "./locales/es/common.json";
import errorsEs from "./locales/es/errors.json";
import { startElement } from "./vault-origin/start-element.ts";

guardScripts(window, __INTEGRITY_FUNCTION__, "{}");
void startElement(window, {
  en: { common: commonEn, errors: errorsEn },
  es: { common: commonEs, errors: errorsEs },
});
