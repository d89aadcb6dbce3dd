import { PortalError } from "@relicario/shared/errors";
import { expectAccessible, readTexts, renderApp } from "@relicario/shared/testing";
import { screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";

import { DeploymentProblem } from "./DeploymentProblem.tsx";
import { Crashed, SignedOut } from "./frame/ProblemScreens.tsx";

const texts = { en: readTexts("en", "errors") ?? {}, es: readTexts("es", "errors") ?? {} };

describe("DeploymentProblem", () => {
  it.each([
    ["deployment_refused", "is not signed as it should be", "no está firmada como debe"],
    ["deployment_expired", "is out of date", "ha caducado"],
    ["deployment_older", "an older description", "más antigua"],
    ["deployment_unreachable", "could not be loaded completely", "no se ha podido cargar del todo"],
  ] as const)("shows %s in both languages and offers a retry", async (code, english, spanish) => {
    const onRetry = jest.fn();
    await renderApp(<DeploymentProblem error={new PortalError(code)} texts={texts} onRetry={onRetry} />);
    const [englishAlert, spanishAlert] = screen.getAllByRole("alert");
    expect(englishAlert).toHaveTextContent(english);
    expect(spanishAlert).toHaveTextContent(spanish);
    await userEvent.click(screen.getByRole("button", { name: "Intentar de nuevo" }));
    expect(onRetry).toHaveBeenCalledTimes(1);
    await expectAccessible();
  });

  it("shows the times of both clocks when this device's clock is wrong", async () => {
    const [device, service] = ["2026-11-20T10:00:00", "2026-11-21T10:07:00"].map((time) => Date.parse(time));
    const error = new PortalError("clock_wrong", { details: { device: device ?? 0, service: service ?? 0 } });
    await renderApp(<DeploymentProblem error={error} texts={texts} onRetry={() => undefined} />);
    const [englishAlert, spanishAlert] = screen.getAllByRole("alert");
    expect(englishAlert).toHaveTextContent(/20 Nov 2026, 10:00.*21 Nov 2026, 10:07/);
    expect(spanishAlert).toHaveTextContent(/20 nov 2026, 10:00.*21 nov 2026, 10:07/);
  });

  it("shows built-in texts when the error texts could not be loaded", async () => {
    await renderApp(
      <DeploymentProblem
        error={new PortalError("deployment_unreachable")}
        texts={{ en: {}, es: {} }}
        onRetry={() => undefined}
      />,
    );
    expect(screen.getAllByRole("alert").map(({ textContent }) => textContent)).toEqual([
      expect.stringContaining("could be loaded"),
      expect.stringContaining("podido cargar"),
    ]);
  });
});

describe.each(["en", "es"] as const)("screens of the host (%s)", (language) => {
  it.each([
    ["signed out elsewhere", <SignedOut key="signed-out" onSignIn={() => undefined} />],
    ["crashed", <Crashed key="crashed" onReload={() => undefined} onLogout={() => undefined} />],
  ])("%s: has a heading and no accessibility violations", async (_name, ui) => {
    await renderApp(ui, { language });
    expect(screen.getByRole("heading", { level: 1 })).toBeVisible();
    await expectAccessible();
  });
});

describe("Crashed", () => {
  it("offers to sign out", async () => {
    const onLogout = jest.fn();
    await renderApp(<Crashed onReload={() => undefined} onLogout={onLogout} />);
    await userEvent.click(screen.getByRole("button", { name: "Sign out" }));
    expect(onLogout).toHaveBeenCalledTimes(1);
  });
});
