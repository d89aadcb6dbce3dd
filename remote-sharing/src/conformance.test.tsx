import { conformance } from "@relicario/shared/testing";

import manifest from "../manifest.json" with { type: "json" };
import remote from "./remote.tsx";

const shareId = "abcdefghijklmnopqrstuA";

conformance(manifest, remote, {
  vault: {
    secrets: [{ title: "Letter", content: "words" }],
    people: [{ userName: "bruno", standing: "known" }],
    received: [{ title: "Door", content: "y", from: "bruno" }],
    asked: [{ title: "The deed" }],
  },
  addresses: { "/shared/:shareId": `/shared/${shareId}`, "/p-shared/:shareId": `/p-shared/${shareId}` },
});
