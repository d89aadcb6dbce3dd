import { screen } from "@testing-library/react";
import { useTranslation } from "react-i18next";

import { renderApp } from "../testing/index.ts";

/** Interpolation does not escape values (specification, section 9); React does. */
it.each([
  "<img src=x onerror=alert(1)>",
  "<script>alert(1)</script>",
  "&lt;b&gt;",
  "{{product}} $t(common:confirm.yes_action)",
])("renders a title with markup as text: %s", async (title) => {
  function Row() {
    const { t } = useTranslation("common");
    const text = t("tags.remove_action", { tag: title });
    return <p>{text}</p>;
  }
  await renderApp(<Row />);
  expect(screen.getByText(`Remove tag ${title}`)).toBeVisible();
  expect(document.querySelector("img, script, b")).toBeNull();
});

describe("isolateBidi in texts", () => {
  async function renderName(name: string): Promise<string> {
    function Row() {
      const { t } = useTranslation("common");
      const text = t("tags.remove_action", { tag: name });
      return <p aria-label={text}>{text}</p>;
    }
    const { container, unmount } = await renderApp(<Row />);
    const [row] = container.getElementsByTagName("p");
    const text = row?.textContent ?? "";
    expect(row).toHaveAttribute("aria-label", text);
    unmount();
    return text;
  }

  it("isolates a right-to-left name from its sentence", async () => {
    expect(await renderName("\u05d3\u05d5\u05d3")).toBe("Remove tag \u2068\u05d3\u05d5\u05d3\u2069");
    expect(await renderName("\u{1e922}1")).toBe("Remove tag \u2068\u{1e922}1\u2069");
  });

  it("removes direction marks that would reorder the sentence", async () => {
    expect(await renderName("ana\u202e")).toBe("Remove tag \u2068ana\u2069");
    expect(await renderName("\u2069\u2067fdp.exe\u200f")).toBe("Remove tag \u2068fdp.exe\u200f\u2069");
  });

  it("leaves left-to-right names unchanged", async () => {
    expect(await renderName("José \u{1f333}")).toBe("Remove tag José \u{1f333}");
  });
});
