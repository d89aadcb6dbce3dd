import type { PictureFieldProps } from "@relicario/shared/contract";
import { Skeleton } from "@relicario/shared/ui";
import { lazy, Suspense } from "react";

const Field = lazy(async () => ({ default: (await import("./PictureField.tsx")).PictureField }));

/** The field for a picture, whose code is fetched when a form shows it: the vault itself is loaded on every visit. */
export function PictureFieldLater(props: PictureFieldProps) {
  return (
    <Suspense fallback={<Skeleton height={props.purpose === "choose" ? "560px" : "200px"} />}>
      <Field {...props} />
    </Suspense>
  );
}

/** The field as a visitor gets it: the only picture that a visitor shows is that of a share. */
export function SharePictureField(props: PictureFieldProps) {
  return <PictureFieldLater {...props} purpose="share" />;
}
