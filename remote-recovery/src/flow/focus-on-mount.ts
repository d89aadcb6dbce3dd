/**
 * As the `ref` of what takes the place of a pressed button: it takes the focus when it comes, so
 * that it is in sight, and keyboard and screen reader go on from it. What is no control needs
 * `tabIndex={-1}`.
 */
export function focusOnMount(element: HTMLElement | null): void {
  element?.focus();
}
