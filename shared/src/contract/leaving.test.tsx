import { act, render, renderHook, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createBrowserRouter, Link, Outlet, RouterProvider, useBlocker, useLocation } from "react-router-dom";

import "../testing/index.ts";
import { blocksLeaving, useLeaveGuard, useLeaveQuestion } from "./leaving.ts";

let answer: Promise<boolean> = Promise.resolve(true);
const asked = jest.fn();

let router: ReturnType<typeof createBrowserRouter>;

/** As the host's. */
function Root() {
  useLeaveQuestion(useBlocker(blocksLeaving));
  return <Outlet />;
}

function Screen() {
  const { pathname, search } = useLocation();
  useLeaveGuard(pathname === "/add-secret", (to) => {
    asked(to);
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

const shown = () => screen.getByTestId("path").textContent;
const go = (path: string) => userEvent.click(screen.getByRole("link", { name: path }));
const back = () => {
  act(() => {
    window.history.back();
  });
};
/** jsdom goes back and forth a little later. */
const isAt = (path: string) =>
  waitFor(() => {
    expect([shown(), window.location.pathname + window.location.search]).toEqual([path, path]);
  });

beforeEach(() => {
  window.history.pushState(null, "", "/home");
  asked.mockReset();
  answer = Promise.resolve(true);
  router = createBrowserRouter([{ element: <Root />, children: [{ path: "*", element: <Screen /> }] }]);
  render(<RouterProvider router={router} />);
});

afterEach(() => {
  router.dispose();
});

describe("leaving", () => {
  it("goes where links lead, and back", async () => {
    expect(shown()).toBe("/home");
    await go("/secrets");
    await isAt("/secrets");
    back();
    await isAt("/home");
    expect(asked).not.toHaveBeenCalled();
  });

  it("stays when the screen that holds something is not to be left", async () => {
    await go("/add-secret");
    answer = Promise.resolve(false);
    await go("/secrets");
    expect(asked).toHaveBeenCalledWith("/secrets");
    await isAt("/add-secret");
  });

  it("leaves when the person says so", async () => {
    await go("/add-secret");
    await go("/secrets");
    await isAt("/secrets");
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it("asks also what began to hold something while the person was asked", async () => {
    await go("/add-secret");
    let leave: (may: boolean) => void = () => undefined;
    answer = new Promise((resolve) => {
      leave = resolve;
    });
    await go("/secrets");
    const late = jest.fn(() => Promise.resolve(false));
    renderHook(() => {
      useLeaveGuard(true, late);
    });
    leave(true);
    await waitFor(() => {
      expect(late).toHaveBeenCalledWith("/secrets");
    });
    await isAt("/add-secret");
  });

  it("does not ask within the same path", async () => {
    await go("/add-secret");
    await go("/add-secret?step=2");
    await isAt("/add-secret?step=2");
    expect(asked).not.toHaveBeenCalled();
  });

  it("asks at the browser's back button too: the address stays that of the screen until the answer, and then goes there", async () => {
    await go("/add-secret");
    let say: (leave: boolean) => void = () => undefined;
    answer = new Promise((resolve) => {
      say = resolve;
    });
    back();
    await waitFor(() => {
      expect(asked).toHaveBeenCalledWith("/home");
    });
    await isAt("/add-secret");
    say(true);
    await isAt("/home");

    await go("/add-secret");
    answer = Promise.resolve(false);
    back();
    await waitFor(() => {
      expect(asked).toHaveBeenCalledTimes(2);
    });
    await isAt("/add-secret");
    await go("/add-secret?step=2"); // and the page goes on as before
    await isAt("/add-secret?step=2");
  });

  it("asks one question at a time", async () => {
    await go("/add-secret");
    answer = new Promise(() => undefined);
    await go("/secrets");
    await go("/home");
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it("asks every screen that holds something, and stays when one of them does", async () => {
    await go("/add-secret");
    const other = jest.fn(() => Promise.resolve(false));
    renderHook(() => {
      useLeaveGuard(true, other);
    });
    await go("/secrets");
    await waitFor(() => {
      expect(other).toHaveBeenCalledWith("/secrets");
    });
    expect(asked).toHaveBeenCalledTimes(1);
    await isAt("/add-secret");
  });

  it("drops the question when the page went elsewhere by itself", async () => {
    const { unmount: letGo } = renderHook(() => {
      useLeaveGuard(true, () => answer);
    });
    let leave: (may: boolean) => void = () => undefined;
    answer = new Promise((resolve) => {
      leave = resolve;
    });
    await go("/secrets");
    letGo(); // saved, say
    await act(() => router.navigate("/home?saved"));
    await isAt("/home?saved");
    leave(true);
    await act(() => router.navigate("/secrets"));
    await isAt("/secrets");
  });
});
