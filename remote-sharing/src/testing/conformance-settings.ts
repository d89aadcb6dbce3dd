import type { ConformanceSettings } from "@relicario/shared/testing";

const shareId = "abcdefghijklmnopqrstuA";

export const conformanceSettings: ConformanceSettings = {
  vault: {
    secrets: [{ title: "Letter", content: "words" }],
    people: [{ userName: "bruno", standing: "known" }],
    received: [{ title: "Door", content: "y", from: "bruno" }],
    asked: [{ title: "The deed" }],
  },
  addresses: { "/shared/:shareId": `/shared/${shareId}`, "/p-shared/:shareId": `/p-shared/${shareId}` },
};
