/**
 * Ref callback for an element that replaces a pressed button: moves the focus to the element, so
 * that it is in view and keyboard and screen reader continue there. Non-interactive elements need
 * `tabIndex={-1}`.
 */
export function focusOnMount(element: HTMLElement | null): void {
  element?.focus();
}
