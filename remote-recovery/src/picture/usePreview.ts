import { useEffect, useState } from "react";

/** An address for showing a picture on this page alone; it goes with the picture. */
export function usePreview(picture: Blob | null): string | null {
  const [shown, setShown] = useState<{ readonly picture: Blob; readonly url: string } | null>(null);
  useEffect(() => {
    if (picture === null) return undefined;
    const url = URL.createObjectURL(picture);
    // eslint-disable-next-line react-hooks/set-state-in-effect -- the address is a resource that this effect makes and revokes
    setShown({ picture, url });
    return () => {
      URL.revokeObjectURL(url);
    };
  }, [picture]);
  return shown?.picture === picture ? shown.url : null;
}
