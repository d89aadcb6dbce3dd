import { act, render, renderHook, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createBrowserRouter, Link, Outlet, RouterProvider, useBlocker, useLocation } from "react-router-dom";

import "../testing/index.ts";
import { shouldBlockLeaving, useLeaveGuard, useLeaveConfirmation } from "./leave-guard.ts";

let guardAnswer: Promise<boolean> = Promise.resolve(true);
const onGuardCalled = jest.fn();

let router: ReturnType<typeof createBrowserRouter>;

function Root() {
  useLeaveConfirmation(useBlocker(shouldBlockLeaving));
  return <Outlet />;
}

function Screen() {
  const { pathname, search } = useLocation();
  useLeaveGuard(pathname === "/add-secret", (to) => {
    onGuardCalled(to);
    return guardAnswer;
  });
  return (
    <>
      <p data-testid="path">{`${pathname}${search}`}</p>
      {["/home", "/add-secret", "/secrets", "/add-secret?step=2"].map((path) => (
        <Link key={path} to={path}>
          {path}
        </Link>
      ))}
    </>
  );
}

const getCurrentPath = () => screen.getByTestId("path").textContent;
const clickLink = (path: string) => userEvent.click(screen.getByRole("link", { name: path }));
const goBack = () => {
  act(() => {
    window.history.back();
  });
};
/** jsdom navigates through the history asynchronously. */
const expectPath = (path: string) =>
  waitFor(() => {
    expect([getCurrentPath(), window.location.pathname + window.location.search]).toEqual([path, path]);
  });

beforeEach(() => {
  window.history.pushState(null, "", "/home");
  onGuardCalled.mockReset();
  guardAnswer = Promise.resolve(true);
  router = createBrowserRouter([{ element: <Root />, children: [{ path: "*", element: <Screen /> }] }]);
  render(<RouterProvider router={router} />);
});

afterEach(() => {
  router.dispose();
});

describe("leave guards", () => {
  it("let links and the back button work without an active guard", async () => {
    expect(getCurrentPath()).toBe("/home");
    await clickLink("/secrets");
    await expectPath("/secrets");
    goBack();
    await expectPath("/home");
    expect(onGuardCalled).not.toHaveBeenCalled();
  });

  it("keep the page when the person refuses to leave", async () => {
    await clickLink("/add-secret");
    guardAnswer = Promise.resolve(false);
    await clickLink("/secrets");
    expect(onGuardCalled).toHaveBeenCalledWith("/secrets");
    await expectPath("/add-secret");
  });

  it("let the navigation continue when the person agrees", async () => {
    await clickLink("/add-secret");
    await clickLink("/secrets");
    await expectPath("/secrets");
    expect(onGuardCalled).toHaveBeenCalledTimes(1);
  });

  it("also ask a guard that became active during the question", async () => {
    await clickLink("/add-secret");
    let resolveAnswer: (allowed: boolean) => void = () => undefined;
    guardAnswer = new Promise((resolve) => {
      resolveAnswer = resolve;
    });
    await clickLink("/secrets");
    const lateGuard = jest.fn(() => Promise.resolve(false));
    renderHook(() => {
      useLeaveGuard(true, lateGuard);
    });
    resolveAnswer(true);
    await waitFor(() => {
      expect(lateGuard).toHaveBeenCalledWith("/secrets");
    });
    await expectPath("/add-secret");
  });

  it("do not ask within the same path", async () => {
    await clickLink("/add-secret");
    await clickLink("/add-secret?step=2");
    await expectPath("/add-secret?step=2");
    expect(onGuardCalled).not.toHaveBeenCalled();
  });

  it("ask at the browser's back button, and keep the address until the answer", async () => {
    await clickLink("/add-secret");
    let resolveAnswer: (allowed: boolean) => void = () => undefined;
    guardAnswer = new Promise((resolve) => {
      resolveAnswer = resolve;
    });
    goBack();
    await waitFor(() => {
      expect(onGuardCalled).toHaveBeenCalledWith("/home");
    });
    await expectPath("/add-secret");
    resolveAnswer(true);
    await expectPath("/home");

    await clickLink("/add-secret");
    guardAnswer = Promise.resolve(false);
    goBack();
    await waitFor(() => {
      expect(onGuardCalled).toHaveBeenCalledTimes(2);
    });
    await expectPath("/add-secret");
    await clickLink("/add-secret?step=2"); // the router still works
    await expectPath("/add-secret?step=2");
  });

  it("ask one question at a time", async () => {
    await clickLink("/add-secret");
    guardAnswer = new Promise(() => undefined);
    await clickLink("/secrets");
    await clickLink("/home");
    expect(onGuardCalled).toHaveBeenCalledTimes(1);
  });

  it("ask every active guard, and keep the page when one refuses", async () => {
    await clickLink("/add-secret");
    const otherGuard = jest.fn(() => Promise.resolve(false));
    renderHook(() => {
      useLeaveGuard(true, otherGuard);
    });
    await clickLink("/secrets");
    await waitFor(() => {
      expect(otherGuard).toHaveBeenCalledWith("/secrets");
    });
    expect(onGuardCalled).toHaveBeenCalledTimes(1);
    await expectPath("/add-secret");
  });

  it("ignore the answer when the page has navigated in the meantime", async () => {
    const { unmount: removeGuard } = renderHook(() => {
      useLeaveGuard(true, () => guardAnswer);
    });
    let resolveAnswer: (allowed: boolean) => void = () => undefined;
    guardAnswer = new Promise((resolve) => {
      resolveAnswer = resolve;
    });
    await clickLink("/secrets");
    removeGuard(); // as after saving
    await act(() => router.navigate("/home?saved"));
    await expectPath("/home?saved");
    resolveAnswer(true);
    await act(() => router.navigate("/secrets"));
    await expectPath("/secrets");
  });
});
