import { Popover } from "@base-ui/react/popover";
import { Bookmark } from "lucide-react";
import { type FormEvent, type ReactElement, useState } from "react";
import { Link, useLocation } from "wouter";
import { useSearch } from "../address/use-search.ts";
import { useMembership } from "../member/membership.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { StrangerText } from "../parts/stranger-text.tsx";
import { TextField } from "../parts/text-field.tsx";
import { savedQuery } from "./own-query.ts";
import { pathOf, useSaveView, useViews } from "./use-views.ts";
import { ViewRow } from "./view-row.tsx";

type Shown = Readonly<Record<string, string | undefined>>;

/** Saved views of this screen: open one, or save what is shown now, with `shown` beside the address. */
export function ViewMenu({ shown = {} }: { readonly shown?: Shown }): ReactElement {
  const { base } = useMembership();
  const [location] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const screen = location.slice(base.length);
  const views = useViews();
  const ofScreen = views.data?.filter(({ path }) => path === screen) ?? [];
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className="button">
        <Bookmark size={14} aria-hidden /> Views
        {ofScreen.length > 0 && <span className="muted">{ofScreen.length}</span>}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className="above" sideOffset={6} align="end">
          <Popover.Popup className="popup wide">
            <Popover.Title className="popup-title">Saved views</Popover.Title>
            {views.isError && <ProblemNotice error={views.error} />}
            {ofScreen.length === 0 && (
              <p className="muted">
                Save the settings of this screen under a name, to find them here and with Ctrl K.
              </p>
            )}
            <ul className="plain-list">
              {ofScreen.map((view) => (
                <li key={view.id} className="row">
                  <Link
                    className="grow view-name"
                    href={base + pathOf(view)}
                    onClick={() => setOpen(false)}
                  >
                    <StrangerText text={view.name} />
                  </Link>
                  {view.is_own ? (
                    <ViewRow view={view} shown={shown} />
                  ) : (
                    <span className="badge">Shared</span>
                  )}
                </li>
              ))}
            </ul>
            <SaveForm screen={screen} shown={shown} />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

function SaveForm({
  screen,
  shown,
}: {
  readonly screen: string;
  readonly shown: Shown;
}): ReactElement {
  const search = useSearch();
  const [name, setName] = useState("");
  const save = useSaveView();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const view = { name, path: screen, query: savedQuery(search, shown) };
    save.mutate(view, { onSuccess: () => setName("") });
  };
  return (
    <form className="stack tight" onSubmit={submit}>
      {save.isError && <ProblemNotice error={save.error} />}
      <TextField label="Name of what is shown now" required value={name} onChange={setName} />
      <div className="row">
        <button type="submit" className="button first" disabled={save.isPending}>
          Save the view
        </button>
        {save.isSuccess && <span role="status">Saved.</span>}
      </div>
    </form>
  );
}
