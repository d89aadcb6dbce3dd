import { utf8 } from "../seal/bytes.ts";
import type { KitDeps } from "../operations/create-kit.ts";
import { kitElementId } from "../kit/kit-document.ts";
import { placeholders } from "../kit/kit-file.ts";

/** Template of a kit with its placeholders, without its program. */
const template = `<!doctype html>
<title>Kit</title>
${placeholders.decoder}
<script type="application/json" id="${kitElementId}" data-sha256="${placeholders.digest}">
${placeholders.kit}
</script>
`;

/** Returns files of a kit without a build: the template, and a few bytes instead of a decoder. */
export const kitFile: KitDeps["loadReleaseFile"] = (name) =>
  Promise.resolve(utf8(name === "kit" ? template : `decoder of ${name}`));
