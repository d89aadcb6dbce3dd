import { useEffect, useState } from "react";

/** Object URL of a picture. Revoked when the picture changes and on unmount. */
export function usePreviewUrl(picture: Blob | null): string | null {
  const [preview, setPreview] = useState<{ readonly picture: Blob; readonly url: string } | null>(null);
  useEffect(() => {
    if (picture === null) return undefined;
    const url = URL.createObjectURL(picture);
    // eslint-disable-next-line react-hooks/set-state-in-effect -- the URL is a resource that this effect creates and revokes
    setPreview({ picture, url });
    return () => {
      URL.revokeObjectURL(url);
    };
  }, [picture]);
  return preview?.picture === picture ? preview.url : null;
}
