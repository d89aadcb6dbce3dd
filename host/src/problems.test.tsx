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
    ["deployment_unreachable", "could not fetch", "no ha podido obtener"],
  ] as const)("says %s in both languages and offers another try", async (code, english, spanish) => {
    const onRetry = jest.fn();
    await renderApp(<DeploymentProblem code={code} texts={texts} onRetry={onRetry} />);
    const [first, second] = screen.getAllByRole("alert");
    expect(first).toHaveTextContent(english);
    expect(second).toHaveTextContent(spanish);
    await userEvent.click(screen.getByRole("button", { name: "Intentar de nuevo" }));
    expect(onRetry).toHaveBeenCalledTimes(1);
    await expectAccessible();
  });

  it("says so itself when its texts did not come either", async () => {
    await renderApp(
      <DeploymentProblem code="deployment_unreachable" texts={{ en: {}, es: {} }} onRetry={() => undefined} />,
    );
    expect(screen.getAllByRole("alert").map(({ textContent }) => textContent)).toEqual([
      expect.stringContaining("could be fetched"),
      expect.stringContaining("podido obtener"),
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
  it("keeps signing out alive", async () => {
    const onLogout = jest.fn();
    await renderApp(<Crashed onReload={() => undefined} onLogout={onLogout} />);
    await userEvent.click(screen.getByRole("button", { name: "Log out" }));
    expect(onLogout).toHaveBeenCalledTimes(1);
  });
});
