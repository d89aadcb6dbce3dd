import { screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { useTranslation } from "react-i18next";

import { usePortal } from "../contract/index.ts";
import { Button, ErrorNotice, Page } from "../ui/index.ts";
import { PortalError } from "../errors/index.ts";
import { expectAccessible, expectTextsComplete, renderApp } from "./index.ts";

function Screen() {
  const { navigate, user } = usePortal();
  return (
    <Page title={`Hello ${user.userName}`}>
      <ErrorNotice error={new PortalError("offline")} />
      <Button
        onClick={() => {
          navigate("/secrets?tag=a");
        }}
      >
        go
      </Button>
    </Page>
  );
}

describe("renderApp", () => {
  it("renders with the portal, the real texts and the theme", async () => {
    await renderApp(<Screen />, { language: "es", theme: "dark" });
    expect(screen.getByRole("heading", { name: "Hello alba" })).toBeVisible();
    expect(screen.getByRole("alert")).toHaveTextContent("Este dispositivo no tiene conexión.");
    expect(document.documentElement).toHaveAttribute("data-theme", "dark");
    await expectAccessible();
  });

  it("lets a screen navigate", async () => {
    const app = await renderApp(<Screen />, { path: "/home" });
    await userEvent.click(screen.getByRole("button", { name: "go" }));
    expect(app.record.paths).toEqual(["/secrets?tag=a"]);
    expect(app.getLocation()).toBe("/secrets?tag=a");
  });

  it("fails a test whose screen uses a text that is missing", async () => {
    function MissingTextScreen() {
      const { t } = useTranslation("common");
      return <p>{t("no.such_text")}</p>;
    }
    await renderApp(<MissingTextScreen />);
    expect(expectTextsComplete).toThrow("common:no.such_text");
  });
});
