import { act, fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";

import { PortalError } from "@relicario/shared/errors";
import { expectAccessible, renderApp } from "@relicario/shared/testing";

import { createRecoveryFakeVault } from "../testing/recovery-fake-vault.ts";
import { LazyPictureField } from "./LazyPictureField.tsx";

const mockLoadTexts = jest.fn();
jest.mock("@relicario/shared/i18n", () => ({
  ...jest.requireActual<object>("@relicario/shared/i18n"),
  loadTexts: () => Promise.resolve(mockLoadTexts()),
}));

/** As another area draws it. */
function Form() {
  return (
    <main>
      <h1>Form</h1>
      <label>
        Title <input />
      </label>
      <h2>Image</h2>
      <LazyPictureField purpose="choose" value={null} onChange={() => undefined} />
    </main>
  );
}

describe("PictureFieldLater", () => {
  it("says so in its place when it does not load, keeps what was typed, and loads again", async () => {
    mockLoadTexts.mockImplementationOnce(() => {
      throw new PortalError("remote_unreachable");
    });
    await renderApp(<Form />, { vault: createRecoveryFakeVault() });
    const title = screen.getByLabelText("Title");
    await userEvent.type(title, "Savings");
    expect(await screen.findByRole("alert")).toHaveTextContent("This part of the portal could not be fetched");
    await expectAccessible();
    // what suspends after a click goes on only inside an awaited act
    await act(() => userEvent.click(screen.getByRole("button", { name: "Try again" })));
    expect(await screen.findByLabelText("Picture file")).toBeInTheDocument();
    expect(title).toHaveValue("Savings");
  });

  it("is drawn at once where one was drawn before", async () => {
    function TwoFields() {
      const [showSecond, setShowSecond] = useState(false);
      return (
        <main>
          <h1>Form</h1>
          <LazyPictureField purpose="show" pictureOnly value={null} onChange={() => undefined} />
          <button
            onClick={() => {
              setShowSecond(true);
            }}
          >
            More
          </button>
          {showSecond && <LazyPictureField purpose="show" pictureOnly value={null} onChange={() => undefined} />}
        </main>
      );
    }
    await renderApp(<TwoFields />, { vault: createRecoveryFakeVault() });
    await screen.findByLabelText("Picture file");
    fireEvent.click(screen.getByRole("button", { name: "More" }));
    expect(screen.getAllByLabelText("Picture file")).toHaveLength(2);
  });
});
