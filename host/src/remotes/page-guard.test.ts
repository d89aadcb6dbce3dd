import { createPageGuard } from "./page-guard.ts";

const { documentElement: html, body, head } = document;
const addStyle = (parent: HTMLElement, attribute = "media"): HTMLStyleElement => {
  const style = parent.appendChild(document.createElement("style"));
  style.setAttribute(attribute, "all");
  return style;
};

describe("createPageGuard", () => {
  let isImporting = false;
  const guard = () => {
    const { start, restore } = createPageGuard({ document, isImporting: () => isImporting });
    start();
    return restore;
  };

  beforeEach(() => {
    isImporting = false;
    html.className = "portal";
    body.setAttribute("style", "margin: 0px;");
  });
  afterEach(() => {
    for (const root of [html, body]) for (const { name } of [...root.attributes]) root.removeAttribute(name);
    head.replaceChildren();
    body.replaceChildren();
  });

  it("restores attributes and inline styles of html and body", () => {
    const restore = guard();
    html.className = "garden";
    html.style.overflow = "hidden";
    body.id = "garden";
    body.style.margin = "9px";
    body.style.display = "none";
    restore();
    expect(html.outerHTML).toMatch(/^<html class="portal">/);
    expect(body.cloneNode()).toHaveProperty("outerHTML", '<body style="margin: 0px;"></body>');
  });

  it("keeps what the host and its dialogs changed meanwhile", () => {
    const restore = guard();
    body.style.pointerEvents = "none";
    html.lang = "es";
    html.dataset["theme"] = "dark";
    body.setAttribute("data-scroll-locked", "1");
    restore();
    expect(body.style.pointerEvents).toBe("none");
    expect([html.lang, html.dataset["theme"], body.getAttribute("data-scroll-locked")]).toEqual(["es", "dark", "1"]);
  });

  it("removes style elements that were added outside the area", async () => {
    const earlier = addStyle(head);
    const restore = guard();
    const added = [addStyle(head), addStyle(body)];
    await Promise.resolve();
    added.push(addStyle(head));
    restore();
    expect(added.map(({ isConnected }) => isConnected)).toEqual([false, false, false]);
    expect(earlier.isConnected).toBe(true);
  });

  it("keeps styles that code adds while it is imported, and those of styled-components", async () => {
    const restore = guard();
    isImporting = true;
    const imported = addStyle(head);
    await Promise.resolve();
    isImporting = false;
    const styled = addStyle(head, "data-styled");
    restore();
    expect([imported.isConnected, styled.isConnected]).toEqual([true, true]);
  });
});
