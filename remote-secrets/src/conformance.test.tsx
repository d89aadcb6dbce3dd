import { conformance } from "@relicario/shared/testing";

import remote from "./remote.tsx";

conformance(remote);
