import { errorCodes } from "@relicario/shared/errors";
import { readTexts, listTextKeys } from "@relicario/shared/testing";

const namespaces = ["beta-sidebar", "common", "errors", "header", "help", "joyride", "language", "modals"];

describe("the host's texts", () => {
  it.each(namespaces)("%s has the same keys in both languages", (namespace) => {
    const [en, es] = [readTexts("en", namespace), readTexts("es", namespace)];
    expect(listTextKeys(es ?? {})).toEqual(listTextKeys(en ?? {}));
    expect(listTextKeys(en ?? {})).not.toHaveLength(0);
  });

  it.each(["en", "es"] as const)(
    "every error has a text, and every other text is a reason for refusing a picture (%s)",
    (language) => {
      const codes = listTextKeys(readTexts(language, "errors") ?? {}).filter(
        (key) => !key.startsWith("picture_reason."),
      );
      expect(codes).toEqual([...errorCodes].sort());
    },
  );

  it.each(["en", "es"] as const)("no text has the product's name or words in capitals (%s)", (language) => {
    for (const namespace of namespaces)
      expect(JSON.stringify(readTexts(language, namespace))).not.toMatch(/relicario|!|¡/i);
  });
});
