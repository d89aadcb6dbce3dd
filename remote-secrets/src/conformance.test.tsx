import { conformance } from "@relicario/shared/testing";

import remote from "./remote.tsx";

conformance(remote, { vault: { secrets: [{ title: "Seed of the wallet", content: "abandon ability able", tags: ["keys"], favorite: true }] } });
