import { render, screen } from "@testing-library/react";

import { createLater, useLater, type Later } from "./later.ts";

const gone = () => Promise.reject(new Error("chunk"));

describe("createLater", () => {
  it("fetches once, whoever asks", async () => {
    const fetch = jest.fn(() => Promise.resolve("code"));
    const later = createLater(fetch);
    expect(later.get()).toBeNull();
    await expect(Promise.all([later.load(), later.load()])).resolves.toEqual(["code", "code"]);
    await later.load();
    expect(later.get()).toBe("code");
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it("tries a few times, then fails; asking again fetches anew", async () => {
    jest.useFakeTimers();
    try {
      const fetch = jest.fn<Promise<string>, []>(gone);
      const later = createLater(fetch);
      const failed = expect(later.load()).rejects.toThrow("chunk");
      await jest.advanceTimersByTimeAsync(350 + 700 + 1400);
      await failed;
      expect(fetch).toHaveBeenCalledTimes(4);
      fetch.mockImplementation(() => Promise.resolve("code"));
      await expect(later.load()).resolves.toBe("code");
    } finally {
      jest.useRealTimers();
    }
  });
});

function Shown({ later, wanted, onFailed }: { readonly later: Later<string>; readonly wanted: boolean; readonly onFailed: () => void }) {
  return <p>{useLater(later, wanted, onFailed) ?? "nothing"}</p>;
}

describe("useLater", () => {
  it("fetches nothing until it is wanted, and shows it then", async () => {
    const fetch = jest.fn(() => Promise.resolve("code"));
    const later = createLater(fetch);
    const { rerender } = render(<Shown later={later} wanted={false} onFailed={jest.fn()} />);
    expect(screen.getByText("nothing")).toBeVisible();
    expect(fetch).not.toHaveBeenCalled();
    rerender(<Shown later={later} wanted onFailed={jest.fn()} />);
    expect(await screen.findByText("code")).toBeVisible();
  });

  it("says that it cannot be had, but not to whoever gave up meanwhile", async () => {
    jest.useFakeTimers();
    try {
      const failed = jest.fn();
      const givenUp = jest.fn();
      render(<Shown later={createLater<string>(gone)} wanted onFailed={failed} />);
      const other = render(<Shown later={createLater<string>(gone)} wanted onFailed={givenUp} />);
      other.rerender(<Shown later={createLater<string>(gone)} wanted={false} onFailed={givenUp} />);
      await jest.advanceTimersByTimeAsync(5_000);
      expect(failed).toHaveBeenCalledTimes(1);
      expect(givenUp).not.toHaveBeenCalled();
    } finally {
      jest.useRealTimers();
    }
  });
});
