import type { FrameLocator, Page } from "@playwright/test";

import { pictureField } from "./picture-field.ts";

/** Presses a button of an element that opens the camera, and returns the camera's window. */
export async function openCamera(page: Page, element: FrameLocator, action: string): Promise<Page> {
  const cameraWindow = page.waitForEvent("popup");
  await element.getByRole("button", { name: action }).click();
  return cameraWindow;
}

/** Takes a picture for protecting with the camera. */
export async function takePicture(page: Page): Promise<void> {
  await pictureField(page).getByRole("tab", { name: "Take picture" }).click();
  const cameraWindow = await openCamera(page, pictureField(page), "Open the camera");
  const closed = cameraWindow.waitForEvent("close");
  await cameraWindow.getByRole("button", { name: "Take the picture" }).click({ timeout: 60_000 });
  await closed;
}
