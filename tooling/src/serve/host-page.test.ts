import { createHostPage } from "./host-page.ts";

const key = { kid: "k", kty: "OKP", crv: "Ed25519", x: "A".repeat(43) } as const;
const trustAnchors = {
  vendor_id: "relicario",
  portal_keys: [key],
  team_keys: { secrets: [key], sharing: [key], recovery: [key], settings: [key] },
};
const template = '<script type="application/json" id="portal-page"></script><style nonce="{{nonce}}"></style>';

describe("createHostPage", () => {
  it("escapes JSON that would end its element", () => {
    const html = createHostPage(template, {
      ...trustAnchors,
      vendor_id: "</script><script>alert(1)</script>$&",
    }).render("n", null);
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).toContain("\\u003c/script>\\u003cscript>alert(1)\\u003c/script>$&");
  });

  it("preloads the vendor's document, with an escaped vendor id", () => {
    expect(createHostPage(template, trustAnchors).render("n", null)).toContain(
      '<link rel="preload" href="/deployments/relicario" as="fetch" crossorigin="anonymous">',
    );
    expect(createHostPage(template, { ...trustAnchors, vendor_id: '"><b>' }).render("n", null)).toContain(
      'href="/deployments/%22%3E%3Cb%3E"',
    );
  });

  it("finds the element in a page without quotes", () => {
    expect(
      createHostPage("<script type=application/json id=portal-page></script>", trustAnchors).render("n", null),
    ).toContain('"vendor_id":"relicario"');
  });

  it.each([
    ["en", "<link href=/en.js hreflang=en>"],
    ["es", '<link hreflang="es" href=/es.js>'],
    [null, ""],
  ] as const)("keeps the link to the host's texts of language %s", (language, expected) => {
    expect(
      createHostPage(`${template}<link href=/en.js hreflang=en><link hreflang="es" href=/es.js>|`, trustAnchors)
        .render("n", language)
        .endsWith(`</style>${expected}|`),
    ).toBe(true);
  });

  it("refuses a page without a portal-page element", () => {
    expect(() => createHostPage("<!doctype html>", trustAnchors)).toThrow("portal-page");
  });
});
