from tools.lint import rooms

TABLE = {"eager": {"stack": ["tensor"], "tensor": []}}


def test_an_include_along_an_arrow_passes():
    texts = {
        "eager/stack/Apply.h": '#include "eager/tensor/Tensor.h"\n#include "ops/operator/OpDef.h"\n'
    }
    assert rooms.check(texts, TABLE) == []


def test_an_include_against_the_arrows_is_named():
    texts = {"eager/tensor/Tensor.cpp": '#include "eager/stack/Apply.h"\n'}
    assert rooms.check(texts, TABLE) == [
        "rooms: eager/tensor/Tensor.cpp must include along an arrow of arrows/rooms.toml, "
        "got eager/tensor -> eager/stack"
    ]


def test_files_of_the_folder_stand_above_its_rooms():
    texts = {"eager/Eager.cpp": '#include "eager/stack/Apply.h"\n#include "eager/Eager.h"\n'}
    assert rooms.check(texts, TABLE) == []
    texts = {"eager/stack/Apply.cpp": '#include "eager/Eager.h"\n'}
    assert len(rooms.check(texts, TABLE)) == 1


def test_a_room_that_is_not_listed_is_named():
    assert rooms.check({"eager/layers/Scalar.cpp": ""}, TABLE) == [
        "rooms: arrows/rooms.toml must list every room, got none for eager/layers/Scalar.cpp"
    ]


def test_a_circle_of_rooms_is_named():
    table = {"eager": {"stack": ["tensor"], "tensor": ["stack"]}}
    (message,) = rooms.check({}, table)
    assert message.startswith("rooms: the rooms of eager must have no circle, got ")
