import { conformance } from "@relicario/shared/testing";

import manifest from "../manifest.json" with { type: "json" };
import remote from "./remote.tsx";

const shareId = "abcdefghijklmnopqrstuA";

conformance(manifest, remote, {
  vault: { secrets: [{ title: "Mine", content: "x" }], people: [{ userName: "bruno", standing: "known" }], received: [{ title: "Door", content: "y", from: "bruno" }] },
  addresses: { "/shared/:shareId": `/shared/${shareId}`, "/p-shared/:shareId": `/p-shared/${shareId}` },
});
