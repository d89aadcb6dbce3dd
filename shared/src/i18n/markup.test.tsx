import { screen } from "@testing-library/react";
import { useTranslation } from "react-i18next";

import { renderApp } from "../testing/index.ts";

/** Interpolation does not escape (specification, section 9): React does, whatever a title holds. */
it.each(["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "&lt;b&gt;", "{{product}} $t(common:confirm.yes_action)"])("a title of markup stays text: %s", async (title) => {
  function Row() {
    const { t } = useTranslation("common");
    return <p>{t("tags.remove_action", { tag: title })}</p>;
  }
  await renderApp(<Row />);
  expect(screen.getByText(`Remove tag ${title}`)).toBeVisible();
  expect(document.querySelector("img, script, b")).toBeNull();
});
