import { html } from "./html.ts";

describe("html", () => {
  it("escapes everything that is put in, in text and in attributes", () => {
    const hostileMarkup = `<img src=x onerror="alert('1')">&amp;`;
    expect(html`<p title="${hostileMarkup}">${hostileMarkup}</p>`.markup).toBe(
      `<p title="&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;"` +
        `>&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;</p>`,
    );
  });

  it("puts its own markup in as it is, alone or in a list, and nothing for null", () => {
    expect(html`<ul>${[html`<li>${1}</li>`, html`<li>${"<"}</li>`]}</ul>${null}${html`<br>`}`.markup).toBe(
      "<ul><li>1</li><li>&lt;</li></ul><br>",
    );
  });

  it("does not take an object that looks like markup for markup", () => {
    const forgedHtml = JSON.parse('{"markup":"<script>"}') as never;
    expect(() => html`${forgedHtml}`.markup).toThrow();
    expect(() => html`${[forgedHtml]}`.markup).toThrow();
  });
});
