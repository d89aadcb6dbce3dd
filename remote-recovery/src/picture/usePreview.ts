import { useEffect, useState } from "react";

/** An address for showing a picture on this page alone; it goes with the picture. */
export function usePreview(picture: Blob | null): string | null {
  const [preview, setPreview] = useState<{ readonly picture: Blob; readonly url: string } | null>(null);
  useEffect(() => {
    if (picture === null) return undefined;
    const url = URL.createObjectURL(picture);
    // eslint-disable-next-line react-hooks/set-state-in-effect -- the address is a resource that this effect makes and revokes
    setPreview({ picture, url });
    return () => {
      URL.revokeObjectURL(url);
    };
  }, [picture]);
  return preview?.picture === picture ? preview.url : null;
}
