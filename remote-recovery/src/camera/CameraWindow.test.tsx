import { expectAccessible, renderApp } from "@relicario/shared/testing";
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { createFakeStream, mockCamera, removeCamera, type FakeCamera } from "../testing/fake-camera.ts";
import { CameraWindow } from "./CameraWindow.tsx";

const onDone = jest.fn();
const onFailed = jest.fn();
const onCancel = jest.fn();

const renderWindow = (settings: Parameters<typeof renderApp>[1] = {}) =>
  renderApp(
    <main>
      <CameraWindow use="picture" {...{ onDone, onFailed, onCancel }} />
    </main>,
    settings,
  );

beforeEach(() => {
  for (const mock of [onDone, onFailed, onCancel]) mock.mockClear();
  HTMLCanvasElement.prototype.toBlob = (callback) => {
    callback(new Blob(["garden"], { type: "image/jpeg" }));
  };
});
afterEach(() => {
  removeCamera();
  jest.restoreAllMocks();
});

describe("CameraWindow", () => {
  it.each([
    ["en", "light", "What the camera sees", "Take the picture", "Picture taken here.jpg"],
    ["es", "dark", "Lo que ve la cámara", "Hacer la foto", "Foto hecha aquí.jpg"],
  ] as const)("takes a picture in %s, %s", async (language, theme, view, action, name) => {
    mockCamera(() => Promise.resolve(createFakeStream()));
    await renderWindow({ language, theme });
    const video = await screen.findByLabelText(view);
    expect(screen.getByRole("button", { name: action })).toBeDisabled();
    await expectAccessible();
    fireEvent.loadedData(video);
    await userEvent.click(screen.getByRole("button", { name: action }));
    expect(onDone).toHaveBeenCalledTimes(1);
    expect(onDone).toHaveBeenCalledWith(expect.objectContaining({ name, type: "image/jpeg" }));
  });

  it("stops the camera when it closes", async () => {
    const stopTrack = jest.fn();
    mockCamera(() => Promise.resolve(createFakeStream(stopTrack)));
    const { unmount } = await renderWindow();
    await userEvent.click(await screen.findByRole("button", { name: "Close the camera" }));
    expect(onCancel).toHaveBeenCalledTimes(1);
    unmount();
    expect(stopTrack).toHaveBeenCalled();
  });

  it.each<[string, readonly FakeCamera[], unknown]>([
    [
      "to the other side",
      [
        { id: "back", facing: "environment" },
        { id: "front", facing: "user" },
      ],
      { facingMode: "user" },
    ],
    [
      "to the next one, where they do not say where they look",
      [{ id: "one" }, { id: "two" }],
      { deviceId: { exact: "two" } },
    ],
  ])("switches %s", async (_case, cameras, expected) => {
    const requestedConstraints: MediaStreamConstraints[] = [];
    mockCamera((constraints) => {
      requestedConstraints.push(constraints);
      return Promise.resolve(createFakeStream(undefined, cameras[requestedConstraints.length - 1]));
    }, cameras);
    await renderWindow();
    await userEvent.click(await screen.findByRole("button", { name: "Switch camera" }));
    await waitFor(() => {
      expect(requestedConstraints).toHaveLength(2);
    });
    expect(requestedConstraints[0]?.video).toMatchObject({ facingMode: "environment" });
    expect(requestedConstraints[1]?.video).toMatchObject(expected ?? {});
  });

  it("says that the camera was turned off, and offers no second camera if there is none", async () => {
    const stream = createFakeStream();
    mockCamera(() => Promise.resolve(stream));
    await renderWindow();
    await screen.findByLabelText("What the camera sees");
    expect(screen.queryByRole("button", { name: "Switch camera" })).not.toBeInTheDocument();
    act(() => {
      stream.end();
    });
    expect(onFailed.mock.calls).toEqual([["ended"]]);
  });

  it.each([
    ["NotAllowedError", "refused"],
    ["NotFoundError", "missing"],
  ])("tells the element that the camera failed (%s)", async (name, problem) => {
    mockCamera(() => Promise.reject(new DOMException("", name)));
    await renderWindow();
    await waitFor(() => {
      expect(onFailed.mock.calls).toEqual([[problem]]);
    });
  });
});
