import { utf8 } from "../seal/bytes.ts";
import type { KitDeps } from "../operations/create-kit.ts";
import { kitElementId } from "../kit/kit-document.ts";
import { placeholders } from "../kit/kit-file.ts";

/** A template with a kit's places and none of its program. */
const template = `<!doctype html>
<title>Kit</title>
${placeholders.decoder}
<script type="application/json" id="${kitElementId}" data-sha256="${placeholders.digest}">
${placeholders.kit}
</script>
`;

/** Files of a release without a build: the template, and a few bytes in place of a decoder. */
export const kitFile: KitDeps["file"] = (name) =>
  Promise.resolve(utf8(name === "kit" ? template : `decoder of ${name}`));
