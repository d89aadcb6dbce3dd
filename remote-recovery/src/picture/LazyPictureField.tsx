import type { PictureFieldProps } from "@relicario/shared/contract";
import { isPortalError, PortalError, toPortalError } from "@relicario/shared/errors";
import { loadTexts } from "@relicario/shared/i18n";
import { ErrorNotice, Skeleton } from "@relicario/shared/ui";
import type { i18n as I18n } from "i18next";
import { createElement, Suspense, use, useState, type ComponentType } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { useTranslation } from "react-i18next";

/** Whose texts the field and all that it draws use. */
const namespaces = ["provide-image", "openers"] as const;

/**
 * The field for a picture, drawn in the forms of other areas. The vault is made on every visit, so
 * code and texts of the field are fetched when a form shows it. When they do not come, the form
 * around it stays, with what was typed.
 */
export function LazyPictureField(props: PictureFieldProps) {
  const { i18n } = useTranslation("common");
  // Outside the component that suspends: React renders again to show a failure and must get the
  // same failed promise.
  const [field, setField] = useState(() => loadField(i18n));
  return (
    <ErrorBoundary
      onReset={() => {
        setField(loadField(i18n));
      }}
      fallbackRender={({ error, resetErrorBoundary }) => {
        // it is there, and broke: for the boundary of the area
        if (!isPortalError(error, "remote_unreachable")) throw toPortalError(error);
        return <ErrorNotice error={error} onRetry={resetErrorBoundary} />;
      }}
    >
      <Suspense fallback={<Skeleton height={props.purpose === "choose" ? "560px" : "200px"} />}>
        <LoadedField field={field} {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}

/** The field as a visitor gets it: the only picture that a visitor shows is that of a share. */
export function SharePictureField(props: PictureFieldProps) {
  return <LazyPictureField {...props} purpose="share" />;
}

interface LoadedFieldProps extends PictureFieldProps {
  readonly field: Promise<ComponentType<PictureFieldProps>>;
}

function LoadedField({ field, ...props }: LoadedFieldProps) {
  return createElement(use(field), props);
}

let fieldPromise: Promise<ComponentType<PictureFieldProps>> | null = null;

/**
 * One promise for all fields, so that those after the first are drawn at once. A failure is
 * forgotten.
 */
function loadField(i18n: I18n): Promise<ComponentType<PictureFieldProps>> {
  if (fieldPromise !== null) return fieldPromise;
  const promise = importField(i18n);
  promise.catch(() => {
    fieldPromise = null;
  });
  fieldPromise = promise;
  return promise;
}

/** @throws PortalError `remote_unreachable` */
async function importField(i18n: I18n): Promise<ComponentType<PictureFieldProps>> {
  try {
    const [{ PictureField }] = await Promise.all([import("./PictureField.tsx"), loadTexts(i18n, namespaces)]);
    return PictureField;
  } catch (cause) {
    throw new PortalError("remote_unreachable", { cause });
  }
}
