import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { errorCodes, HttpError, PortalError } from "../errors/index.ts";
import { expectAccessible, renderApp } from "../testing/index.ts";
import { ErrorNotice, Notice } from "./notices.tsx";

describe("ErrorNotice", () => {
  it.each(["en", "es"] as const)("has a sentence for every code in %s", async (language) => {
    await renderApp(
      <main>
        {errorCodes.map((code) => (
          <ErrorNotice key={code} error={new PortalError(code)} />
        ))}
      </main>,
      { language },
    );
    expect(screen.getAllByRole("alert")).toHaveLength(errorCodes.length - 1); // `cancelled` shows nothing
    for (const alert of screen.getAllByRole("alert")) expect(alert.textContent).not.toMatch(/^$|errors:|_/);
  });

  it("never shows the message of an error", async () => {
    await renderApp(<ErrorNotice error={new Error("connect ECONNREFUSED 10.0.0.7")} />);
    expect(screen.getByRole("alert")).not.toHaveTextContent("ECONNREFUSED");
  });

  it("shows nothing without an error, and for what the person cancelled", async () => {
    await renderApp(
      <main>
        <ErrorNotice error={null} />
        <ErrorNotice error={new PortalError("cancelled")} />
      </main>,
    );
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  });

  it("names the request for support, and tries again", async () => {
    const again = jest.fn();
    const cause = new HttpError({ status: 503, statusText: "Service Unavailable", path: "/secrets/store", requestId: "req-7", problem: null });
    await renderApp(<ErrorNotice error={new PortalError("service_unavailable", { cause })} onRetry={again} />);
    expect(screen.getByRole("alert")).toHaveTextContent("Reference for support: req-7");
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(again).toHaveBeenCalledTimes(1);
  });
});

it.each(["light", "dark"] as const)("notices have no accessibility violations in %s", async (theme) => {
  await renderApp(
    <main>
      {(["info", "success", "warn", "danger"] as const).map((tone) => (
        <Notice key={tone} tone={tone} title={tone} role="status">
          Something to know
        </Notice>
      ))}
    </main>,
    { theme },
  );
  await expectAccessible();
});
