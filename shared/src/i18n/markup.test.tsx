import { screen } from "@testing-library/react";
import { useTranslation } from "react-i18next";

import { renderApp } from "../testing/index.ts";

/** Interpolation does not escape (specification, section 9): React does, whatever a title holds. */
it.each([
  "<img src=x onerror=alert(1)>",
  "<script>alert(1)</script>",
  "&lt;b&gt;",
  "{{product}} $t(common:confirm.yes_action)",
])("a title of markup stays text: %s", async (title) => {
  function Row() {
    const { t } = useTranslation("common");
    return <p>{t("tags.remove_action", { tag: title })}</p>;
  }
  await renderApp(<Row />);
  expect(screen.getByText(`Remove tag ${title}`)).toBeVisible();
  expect(document.querySelector("img, script, b")).toBeNull();
});

describe("a name that reads from right to left", () => {
  async function renderName(name: string): Promise<string> {
    function Row() {
      const { t } = useTranslation("common");
      return <p aria-label={t("tags.remove_action", { tag: name })}>{t("tags.remove_action", { tag: name })}</p>;
    }
    const { container, unmount } = await renderApp(<Row />);
    const [row] = container.getElementsByTagName("p");
    const text = row?.textContent ?? "";
    expect(row).toHaveAttribute("aria-label", text);
    unmount();
    return text;
  }

  it("stands apart from the sentence that it goes into", async () => {
    expect(await renderName("\u05d3\u05d5\u05d3")).toBe("Remove tag \u2068\u05d3\u05d5\u05d3\u2069");
    expect(await renderName("\u{1e922}1")).toBe("Remove tag \u2068\u{1e922}1\u2069");
  });

  it("cannot turn around what stands beside it by marks of direction", async () => {
    expect(await renderName("ana\u202e")).toBe("Remove tag \u2068ana\u2069");
    expect(await renderName("\u2069\u2067fdp.exe\u200f")).toBe("Remove tag \u2068fdp.exe\u200f\u2069");
  });

  it("is changed in nothing where it reads from left to right", async () => {
    expect(await renderName("José \u{1f333}")).toBe("Remove tag José \u{1f333}");
  });
});
