import { act, render, renderHook, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createBrowserRouter, Link, Outlet, RouterProvider, useBlocker, useLocation } from "react-router-dom";

import "../testing/index.ts";
import { shouldBlockLeaving, useLeaveGuard, useLeaveConfirmation } from "./leaving.ts";

let answer: Promise<boolean> = Promise.resolve(true);
const onAsked = jest.fn();

let router: ReturnType<typeof createBrowserRouter>;

/** As the host's. */
function Root() {
  useLeaveConfirmation(useBlocker(shouldBlockLeaving));
  return <Outlet />;
}

function Screen() {
  const { pathname, search } = useLocation();
  useLeaveGuard(pathname === "/add-secret", (to) => {
    onAsked(to);
    return answer;
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
/** jsdom goes back and forth a little later. */
const expectPath = (path: string) =>
  waitFor(() => {
    expect([getCurrentPath(), window.location.pathname + window.location.search]).toEqual([path, path]);
  });

beforeEach(() => {
  window.history.pushState(null, "", "/home");
  onAsked.mockReset();
  answer = Promise.resolve(true);
  router = createBrowserRouter([{ element: <Root />, children: [{ path: "*", element: <Screen /> }] }]);
  render(<RouterProvider router={router} />);
});

afterEach(() => {
  router.dispose();
});

describe("leaving", () => {
  it("goes where links lead, and back", async () => {
    expect(getCurrentPath()).toBe("/home");
    await clickLink("/secrets");
    await expectPath("/secrets");
    goBack();
    await expectPath("/home");
    expect(onAsked).not.toHaveBeenCalled();
  });

  it("stays when the screen that holds something is not to be left", async () => {
    await clickLink("/add-secret");
    answer = Promise.resolve(false);
    await clickLink("/secrets");
    expect(onAsked).toHaveBeenCalledWith("/secrets");
    await expectPath("/add-secret");
  });

  it("leaves when the person says so", async () => {
    await clickLink("/add-secret");
    await clickLink("/secrets");
    await expectPath("/secrets");
    expect(onAsked).toHaveBeenCalledTimes(1);
  });

  it("asks also what began to hold something while the person was asked", async () => {
    await clickLink("/add-secret");
    let answerLeave: (allowed: boolean) => void = () => undefined;
    answer = new Promise((resolve) => {
      answerLeave = resolve;
    });
    await clickLink("/secrets");
    const lateGuard = jest.fn(() => Promise.resolve(false));
    renderHook(() => {
      useLeaveGuard(true, lateGuard);
    });
    answerLeave(true);
    await waitFor(() => {
      expect(lateGuard).toHaveBeenCalledWith("/secrets");
    });
    await expectPath("/add-secret");
  });

  it("does not ask within the same path", async () => {
    await clickLink("/add-secret");
    await clickLink("/add-secret?step=2");
    await expectPath("/add-secret?step=2");
    expect(onAsked).not.toHaveBeenCalled();
  });

  it("asks at the browser's back button too: the address stays that of the screen until the answer, and then goes there", async () => {
    await clickLink("/add-secret");
    let answerLeave: (leave: boolean) => void = () => undefined;
    answer = new Promise((resolve) => {
      answerLeave = resolve;
    });
    goBack();
    await waitFor(() => {
      expect(onAsked).toHaveBeenCalledWith("/home");
    });
    await expectPath("/add-secret");
    answerLeave(true);
    await expectPath("/home");

    await clickLink("/add-secret");
    answer = Promise.resolve(false);
    goBack();
    await waitFor(() => {
      expect(onAsked).toHaveBeenCalledTimes(2);
    });
    await expectPath("/add-secret");
    await clickLink("/add-secret?step=2"); // and the page goes on as before
    await expectPath("/add-secret?step=2");
  });

  it("asks one question at a time", async () => {
    await clickLink("/add-secret");
    answer = new Promise(() => undefined);
    await clickLink("/secrets");
    await clickLink("/home");
    expect(onAsked).toHaveBeenCalledTimes(1);
  });

  it("asks every screen that holds something, and stays when one of them does", async () => {
    await clickLink("/add-secret");
    const otherGuard = jest.fn(() => Promise.resolve(false));
    renderHook(() => {
      useLeaveGuard(true, otherGuard);
    });
    await clickLink("/secrets");
    await waitFor(() => {
      expect(otherGuard).toHaveBeenCalledWith("/secrets");
    });
    expect(onAsked).toHaveBeenCalledTimes(1);
    await expectPath("/add-secret");
  });

  it("drops the question when the page went elsewhere by itself", async () => {
    const { unmount: removeGuard } = renderHook(() => {
      useLeaveGuard(true, () => answer);
    });
    let answerLeave: (may: boolean) => void = () => undefined;
    answer = new Promise((resolve) => {
      answerLeave = resolve;
    });
    await clickLink("/secrets");
    removeGuard(); // saved, say
    await act(() => router.navigate("/home?saved"));
    await expectPath("/home?saved");
    answerLeave(true);
    await act(() => router.navigate("/secrets"));
    await expectPath("/secrets");
  });
});
