/**
 * Icon of an entry that a remote adds. Its drawing is in a file of the host, because most pages
 * need none.
 */
export function RemoteIcon({ name }: { readonly name: string }) {
  return (
    <svg
      aria-hidden
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={2}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <use href={`/navigation-icons.svg#${name}`} />
    </svg>
  );
}
