import { conformance } from "@relicario/shared/testing";

import manifest from "../manifest.json" with { type: "json" };
import { conformanceSettings } from "./testing/conformance-settings.ts";
import remote from "./remote.tsx";

conformance(manifest, remote, { ...conformanceSettings, extent: "brief" });
