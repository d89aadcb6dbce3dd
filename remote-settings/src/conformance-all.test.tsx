import { conformance } from "@relicario/shared/testing";

import manifest from "../manifest.json" with { type: "json" };
import remote from "./remote.tsx";

conformance(manifest, remote);
