import { zodResolver } from "@hookform/resolvers/zod";
import type { Me } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { TextField } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, SpacedRow, Stack } from "@relicario/shared/ui";
import type { ReactNode } from "react";
import { useForm, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { useUpdateMe } from "../data/me.ts";
import { getInvalidFields } from "../data/invalid-fields.ts";
import { toProfileUpdate, isProfileProblem, createProfileSchema } from "./profile-draft.ts";
import { useUserNameValidity } from "./useUserNameValidity.ts";

interface NameAndAddressFormProps {
  readonly me: Me;
  /** Status of the stored contact address. */
  readonly children: ReactNode;
}

export function NameAndAddressForm({ me, children }: NameAndAddressFormProps) {
  const { t } = useTranslation("settings");
  const { notify } = usePortal();
  const update = useUpdateMe();
  const { register, handleSubmit, formState, reset, control, setError, setFocus } = useForm({
    resolver: zodResolver(createProfileSchema(me)),
    defaultValues: { userName: me.user_name, contactEmail: me.contact_email ?? "" },
  });
  const nameValidity = useUserNameValidity(useWatch({ control, name: "userName" }).trim(), me);
  const translateProblem = (message: string | undefined) =>
    isProfileProblem(message) ? t(`profile.${message}_error`) : null;
  const nameError =
    nameValidity.problem === "taken"
      ? t("profile.name_taken_error")
      : nameValidity.problem === "malformed"
        ? t("profile.name_invalid_error")
        : nameValidity.problem === "unchecked"
          ? t("profile.name_unchecked_error")
          : null;
  const isNameRefused = getInvalidFields(update.error).some(({ path }) => path === "/user_name");

  const submit = handleSubmit(async (draft) => {
    if (nameValidity.problem === "taken" || nameValidity.problem === "malformed") {
      setFocus("userName");
      return;
    }
    const changes = toProfileUpdate(me, draft);
    if (Object.keys(changes).length === 0) return;
    try {
      const updated = await update.mutateAsync(changes);
      reset({ userName: updated.user_name, contactEmail: updated.contact_email ?? "" });
      notify({ tone: "success", text: t("profile.saved_status") });
    } catch (error) {
      // Other failures are shown below the fields. The form keeps its input in either case.
      if (getInvalidFields(error).some(({ path, reason }) => path === "/user_name" && reason === "taken"))
        setError("userName", { message: "name_taken" }, { shouldFocus: true });
    }
  });
  return (
    <Card>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack $gap={5}>
          <TextField
            label={t("profile.name_label")}
            hint={t("profile.name_hint")}
            error={translateProblem(formState.errors.userName?.message) ?? nameError}
            autoComplete="nickname"
            autoCapitalize="none"
            spellCheck={false}
            {...register("userName")}
          />
          <TextField
            type="email"
            label={t("profile.email_label")}
            hint={t("profile.email_hint")}
            error={translateProblem(formState.errors.contactEmail?.message)}
            autoComplete="email"
            spellCheck={false}
            {...register("contactEmail")}
          />
          {children}
          <ErrorNotice error={isNameRefused ? null : update.error} />
          <SpacedRow>
            <Button type="submit" pending={update.isPending} disabled={!formState.isDirty}>
              {t("profile.save_action")}
            </Button>
          </SpacedRow>
        </Stack>
      </form>
    </Card>
  );
}
