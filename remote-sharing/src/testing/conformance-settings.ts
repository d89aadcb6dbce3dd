import type { ConformanceSettings } from "@relicario/shared/testing";

const shareId = "abcdefghijklmnopqrstuA";

export const conformanceSettings: ConformanceSettings = {
  vault: {
    secrets: [{ title: "Letter", content: "words" }],
    people: [{ userName: "bruno", trust: "known" }],
    received: [{ title: "Door", content: "y", from: "bruno" }],
    ownRequests: [{ title: "The deed" }],
  },
  addresses: { "/shared/:shareId": `/shared/${shareId}`, "/p-shared/:shareId": `/p-shared/${shareId}` },
};
