/** Whether the browser offers a camera; over plain HTTP it does not. */
export function hasCamera(): boolean {
  return hasCaptureInput() || ("mediaDevices" in navigator && "getUserMedia" in navigator.mediaDevices);
}

/**
 * Whether a file input can open the device's camera app. Browsers for phones and tablets have the
 * attribute, others do not.
 */
export function hasCaptureInput(): boolean {
  return "capture" in HTMLInputElement.prototype;
}
