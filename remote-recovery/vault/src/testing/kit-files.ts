import { utf8 } from "../seal/bytes.ts";
import type { KitParts } from "../acts/make-kit.ts";
import { kitElement } from "../kit/kit-document.ts";
import { places } from "../kit/kit-file.ts";

/** A template with a kit's places and none of its program. */
const template = `<!doctype html>
<title>Kit</title>
${places.decoder}
<script type="application/json" id="${kitElement}" data-sha256="${places.digest}">
${places.kit}
</script>
`;

/** Files of a release without a build: the template, and a few bytes in place of a decoder. */
export const kitFile: KitParts["file"] = (name) =>
  Promise.resolve(utf8(name === "kit" ? template : `decoder of ${name}`));
