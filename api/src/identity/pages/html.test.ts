import { html } from "./html.ts";

describe("html", () => {
  it("escapes every interpolation, in text and in attributes", () => {
    const hostileMarkup = `<img src=x onerror="alert('1')">&amp;`;
    expect(html`<p title="${hostileMarkup}">${hostileMarkup}</p>`.markup).toBe(
      `<p title="&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;"` +
        `>&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;</p>`,
    );
  });

  it("keeps its own markup, alone or in a list, and omits null", () => {
    expect(html`<ul>${[html`<li>${1}</li>`, html`<li>${"<"}</li>`]}</ul>${null}${html`<br>`}`.markup).toBe(
      "<ul><li>1</li><li>&lt;</li></ul><br>",
    );
  });

  it("escapes an object that only looks like markup", () => {
    const forgedHtml = JSON.parse('{"markup":"<script>"}') as never;
    expect(() => html`${forgedHtml}`.markup).toThrow();
    expect(() => html`${[forgedHtml]}`.markup).toThrow();
  });
});
