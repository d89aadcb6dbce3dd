import { waitFor } from "@testing-library/react";

import { renderApp } from "../testing/index.ts";
import { ConfirmDialog } from "./ConfirmDialog.tsx";
import { Dialog } from "./Dialog.tsx";

const mockLoad = jest.fn();
jest.mock("./overlays-later.ts", () => ({ overlays: { get: () => null, subscribe: () => () => undefined, load: () => mockLoad() as unknown } }));

beforeEach(() => {
  mockLoad.mockReset().mockResolvedValueOnce({}).mockRejectedValue(new Error("chunk")); // once for `renderApp` itself
});

describe("when the code of dialogs cannot be had", () => {
  it("asks by the browser's own question, so that signing out stays possible", async () => {
    const confirm = jest.spyOn(window, "confirm").mockReturnValue(true);
    const answered = jest.fn();
    await renderApp(<ConfirmDialog open title="Log out?" description="Your secrets stay sealed." onAnswer={answered} />);
    await waitFor(() => {
      expect(answered).toHaveBeenCalledWith(true);
    });
    expect(confirm).toHaveBeenCalledWith("Log out?\n\nYour secrets stay sealed.");
  });

  it("says so and closes a dialog of another kind", async () => {
    const alert = jest.spyOn(window, "alert").mockReturnValue(undefined);
    const closed = jest.fn();
    await renderApp(<Dialog open onClose={closed} title="Save" />);
    await waitFor(() => {
      expect(closed).toHaveBeenCalledTimes(1);
    });
    expect(alert).toHaveBeenCalledWith("This part of the portal could not be fetched. The rest still works. Try again in a moment.");
  });
});
