import { conformance } from "@relicario/shared/testing";

import manifest from "../manifest.json" with { type: "json" };
import remote from "./remote.tsx";

conformance(manifest, remote, { vault: { secrets: [{ title: "Seed of the wallet", content: "abandon ability able", tags: ["keys"], favorite: true }] } });
