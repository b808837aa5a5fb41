import { Menu } from "@base-ui/react/menu";
import { Ellipsis } from "lucide-react";
import { type FormEvent, type ReactElement, useState } from "react";
import { useSearch } from "../address/use-search.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { savedQuery } from "./own-query.ts";
import { type SavedView, useChangeView, useDeleteView, type ViewChange } from "./use-views.ts";

/** What its owner can do with a view. */
export function ViewRow({
  view,
  shown,
}: {
  readonly view: SavedView;
  readonly shown: Readonly<Record<string, string | undefined>>;
}): ReactElement {
  const search = useSearch();
  const [isRenaming, setRenaming] = useState(false);
  const write = useChangeView();
  const remove = useDeleteView();
  const change = (to: ViewChange): void => write.mutate({ id: view.id, change: to });
  if (isRenaming) return <Rename view={view} onDone={() => setRenaming(false)} />;
  return (
    <>
      {view.is_shared && <span className="badge good">Shared</span>}
      <Menu.Root>
        <Menu.Trigger className="button plain icon" aria-label={`More about ${view.name}`}>
          <Ellipsis size={16} aria-hidden />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner className="above" sideOffset={4} align="end">
            <Menu.Popup className="menu">
              <Menu.Item className="menu-item" onClick={() => setRenaming(true)}>
                Rename
              </Menu.Item>
              <Menu.Item
                className="menu-item"
                onClick={() => change({ query: savedQuery(search, shown) })}
              >
                Replace by what is shown
              </Menu.Item>
              <Menu.Item
                className="menu-item"
                onClick={() => change({ is_shared: !view.is_shared })}
              >
                {view.is_shared ? "Stop sharing" : "Share"}
              </Menu.Item>
              <Menu.Item className="menu-item bad" onClick={() => remove.mutate(view.id)}>
                Delete
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {write.isError && <ProblemNotice error={write.error} />}
      {remove.isError && <ProblemNotice error={remove.error} />}
    </>
  );
}

function Rename({
  view: { id, name: before },
  onDone,
}: {
  readonly view: SavedView;
  readonly onDone: () => void;
}): ReactElement {
  const [name, setName] = useState(before);
  const write = useChangeView();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    write.mutate({ id, change: { name } }, { onSuccess: onDone });
  };
  return (
    <form className="row" onSubmit={submit}>
      <input
        className="input"
        aria-label="New name"
        required
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <button type="submit" className="button" disabled={write.isPending}>
        Rename
      </button>
      {write.isError && <ProblemNotice error={write.error} />}
    </form>
  );
}
